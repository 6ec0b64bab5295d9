# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by every test of `make check`: the software driver of Mesa, in the calling
# thread, under the validation layer with its checks of synchronisation between submits.
# A driver or layer that is missing is left out here; tools/check asks for both.
for rubus_icd in /usr/share/vulkan/icd.d/lvp_icd*.json /usr/local/share/vulkan/icd.d/lvp_icd*.json; do
    if [ -f "$rubus_icd" ]; then
        VK_DRIVER_FILES=$rubus_icd
        VK_ICD_FILENAMES=$rubus_icd # loaders before 1.3.207
        export VK_DRIVER_FILES VK_ICD_FILENAMES
        break
    fi
done
unset VK_INSTANCE_LAYERS VK_LAYER_ENABLES VK_LAYER_PATH
for rubus_layer in /usr/share/vulkan/explicit_layer.d /usr/local/share/vulkan/explicit_layer.d; do
    if [ -f "$rubus_layer/VkLayer_khronos_validation.json" ]; then
        VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
        VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT
        VK_LAYER_ENABLES=$VK_LAYER_ENABLES:VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
        export VK_INSTANCE_LAYERS VK_LAYER_ENABLES
        break
    fi
done
LP_NUM_THREADS=0
export LP_NUM_THREADS
