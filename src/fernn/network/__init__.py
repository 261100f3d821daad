"""The differentiable core: networks whose trained weights are a formula."""
