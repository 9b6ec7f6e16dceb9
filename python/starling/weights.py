# SPDX-License-Identifier: Apache-2.0
"""What was learned in an environment, as a file that agents run."""

import numpy

from ._core import FEATURES, NET_ROW, save_weights


def save_policy(path, skip=None, layers=(), activation="relu", notes=None):
    """Saves a policy that scores each option by its row of features r [64]:

        score = skip . r + net(r)

    and takes the largest, for --policy marl:weights=PATH. `skip`: 64 numbers; None: zeros. `layers`: (weight [out, in],
    bias [out]) of each layer of the net, the first of 64 inputs, the last of one output, with `activation` (relu or
    tanh) between them; none: there is no net. ValueError: their shapes do not go together.
    """
    width = len(FEATURES)
    skip = numpy.zeros(width) if skip is None else numpy.asarray(skip)
    if skip.shape != (width,):
        raise ValueError(f"skip has shape {skip.shape}; it is ({width},)")
    tensors = {"skip": skip}
    layers = list(layers) or [(numpy.zeros((1, width)), numpy.zeros(1))]
    for number, (weight, bias) in enumerate(layers):
        weight, bias = numpy.asarray(weight), numpy.asarray(bias)
        outputs = 1 if number + 1 == len(layers) else weight.shape[0]
        if weight.shape != (outputs, width) or bias.shape != (outputs,):
            raise ValueError(f"layer {number} has shapes {weight.shape} and {bias.shape}; they are ({outputs}, {width}) "
                             f"and ({outputs},)")
        if number == 0:  # agents' rows go on with embeddings, which this net does not look at
            weight = numpy.hstack([weight, numpy.zeros((outputs, NET_ROW - width))])
        tensors[f"actor.{number}.weight"], tensors[f"actor.{number}.bias"] = weight, bias
        width = outputs
    save_weights(path, tensors, {**(notes or {}), "actor.activation": activation})
