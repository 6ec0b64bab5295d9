# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += liboutput.la
liboutput_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUBUS_MODULE_DIR='"$(moduledir)"'
liboutput_la_SOURCES = \
	%D%/label.c \
	%D%/writers.h \
	%D%/picture.c \
	%D%/picture.h \
	%D%/series.c \
	%D%/table.c \
	%D%/vtk.c \
	%D%/vtr.c \
	%D%/xml.c

# The drawing module: the only part that needs cairo, opened at the first picture.
if HAVE_CAIRO
module_LTLIBRARIES += rubus-picture.la
rubus_picture_la_CFLAGS = $(AM_CFLAGS) $(CAIRO_CFLAGS)
rubus_picture_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^rubus_picture_draw$$' $(NODELETE_LDFLAGS) $(DEFS_LDFLAGS)
rubus_picture_la_LIBADD = $(CAIRO_LIBS) -lm
rubus_picture_la_SOURCES = \
	%D%/picture.h \
	%D%/picture_axes.c \
	%D%/picture_axes.h \
	%D%/picture_curve.c \
	%D%/picture_curve.h \
	%D%/picture_module.c

BUILD_LINKS += .libs/rubus/rubus-picture.so
.libs/rubus/rubus-picture.so: rubus-picture.la
	$(AM_V_at)$(MKDIR_P) .libs/rubus && rm -f $@ && $(LN_S) ../rubus-picture.so $@
endif
