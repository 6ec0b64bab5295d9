# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += %D%/bench-peers %D%/bundle %D%/check %D%/gpu-check %D%/layout \
	%D%/packages.sh %D%/quickstart %D%/peers
dist_pkgdata_SCRIPTS = %D%/new-backend
dist_bashcompletion_DATA += %D%/completion/rubus

# What tools/bundle copies in place of installed files: linked once more, so that each part
# finds the others by where it lies itself, and the compiler module brings its own libstdc++
# (which must not stand before that of a driver in the same process).
.PHONY: bundled
BUNDLED = %D%/bundled/rubus
%D%/bundled/librubus.la: librubus.la
	$(AM_V_CCLD)$(MKDIR_P) %D%/bundled && \
	$(librubus_la_LINK) -rpath /lib -Wl,-rpath,'$$ORIGIN' $(librubus_la_LIBADD) $(LIBS)
%D%/bundled/rubus: %D%/bundled/librubus.la $(tools_rubus_rubus_OBJECTS)
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(tools_rubus_rubus_OBJECTS) \
	    %D%/bundled/.libs/librubus.so -Wl,-rpath,'$$ORIGIN/../lib' $(JANSSON_LIBS) -lm -ldl -lpthread
if HAVE_SHADERC
BUNDLED += %D%/bundled/rubus-glsl.so
%D%/bundled/rubus-glsl.so: rubus-glsl.la
	$(AM_V_CCLD)$(MKDIR_P) %D%/bundled && \
	libs=`echo '$(SHADERC_LIBS)' | sed 's/-lstdc++/-l:libstdc++.a/g'` && \
	$(CC) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) -shared -static-libgcc $(NODELETE_LDFLAGS) \
	    $(DEFS_LDFLAGS) -Wl,--exclude-libs,ALL -o $@ plugins/vulkan/.libs/compiler_shaderc.o \
	    $$libs
endif
bundled: $(BUNDLED)
