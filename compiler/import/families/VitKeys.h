// What ViT and DeiT share: their stack and its pooler.
#pragma once
#include "compiler/import/config/ConfigImage.h"

namespace mille::import {

// Pre-norm units over patches with learned positions, behind the CLS token.
void describeVitStack(Config &config, ModelSpec &model);

// The pooler that a base model may have.
Pooling vitPooling(Config &config, const ModelSpec &model);

} // namespace mille::import
