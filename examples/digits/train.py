#!/usr/bin/env python3
"""Trains a classifier for scikit-learn's handwritten digits with JAX and exports it, and the test set, for Indim.

    train.py [FOLDER]          writes into FOLDER (default: the folder of this file)

Written files (those in the repository were made by this script):
  digits.hlo     the classifier as HLO text: jax.jit(read).lower(...).as_text("hlo"), the whole test set as one batch
  images.npy     u8[540,8,8]   the test images; 0 is paper, 16 is ink
  labels.npy     u8[540]       what the writers meant
  hidden_weights.npy, hidden_bias.npy, output_weights.npy, output_bias.npy     f32, the trained parameters
  expected_digit.npy, expected_probability.npy     s32[540], f32[540]: what JAX reads, and how sure it is
  expected.json  the sizes, JAX's accuracy on the test set, and the versions it was made with

The network is the smallest that reads well: 64 pixels, 64 hidden units with ReLU, 10 digits. Training is full of
choices that are fixed (split, seed, order of the batches), so the same versions on the same machine make the same
files; other machines may round differently and end at a slightly different network, which is why the outputs are kept.
"""

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HIDDEN = 64
EPOCHS = 60
BATCH = 32
RATE = 2e-3
DECAY = 1e-4
SEED = 2


def logits(images, hidden_weights, hidden_bias, output_weights, output_bias):
    pixels = images.reshape(images.shape[0], 64).astype(jnp.float32) / 16
    hidden = jnp.maximum(pixels @ hidden_weights + hidden_bias, 0)
    return hidden @ output_weights + output_bias


def read(images, *parameters):
    """The exported program: for each image the most probable digit and its probability."""
    probability = jax.nn.softmax(logits(images, *parameters), axis=1)
    return jnp.argmax(probability, axis=1).astype(jnp.int32), jnp.max(probability, axis=1)


def initial_parameters(key):
    first, second = jax.random.split(key)
    return (
        jax.random.normal(first, (64, HIDDEN)) * np.sqrt(2 / 64).astype(np.float32),
        jnp.zeros(HIDDEN),
        jax.random.normal(second, (HIDDEN, 10)) * np.sqrt(2 / HIDDEN).astype(np.float32),
        jnp.zeros(10),
    )


def loss(parameters, images, labels):
    log_probability = jax.nn.log_softmax(logits(images, *parameters), axis=1)
    weights = sum(jnp.sum(p * p) for p in parameters if p.ndim == 2)
    return -jnp.mean(log_probability[jnp.arange(labels.size), labels]) + DECAY * weights


@jax.jit
def adam(parameters, mean, square, step, images, labels):
    gradients = jax.grad(loss)(parameters, images, labels)
    mean = tuple(0.9 * m + 0.1 * g for m, g in zip(mean, gradients))
    square = tuple(0.999 * s + 0.001 * g * g for s, g in zip(square, gradients))
    corrected = RATE * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    parameters = tuple(p - corrected * m / (jnp.sqrt(s) + 1e-8) for p, m, s in zip(parameters, mean, square))
    return parameters, mean, square


def train(images, labels):
    parameters = initial_parameters(jax.random.key(SEED))
    mean = square = tuple(jnp.zeros_like(p) for p in parameters)
    shuffle = np.random.default_rng(SEED)
    step = 0
    for _ in range(EPOCHS):
        order = shuffle.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            parameters, mean, square = adam(parameters, mean, square, float(step), images[chosen], labels[chosen])
    return parameters


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    folder = folder if folder.is_dir() else folder.parent
    data = load_digits()
    images = data.images.astype(np.uint8)
    labels = data.target.astype(np.uint8)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=540, random_state=SEED, stratify=labels
    )
    parameters = train(train_images, train_labels)
    program = jax.jit(read)
    digit, probability = map(np.asarray, program(test_images, *parameters))
    correct = int(np.sum(digit == test_labels))

    names = ("hidden_weights", "hidden_bias", "output_weights", "output_bias")
    arrays = dict(zip(names, map(np.asarray, parameters)))
    arrays.update(images=test_images, labels=test_labels, expected_digit=digit, expected_probability=probability)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
    (folder / "digits.hlo").write_text(program.lower(test_images, *parameters).as_text("hlo"))
    summary = {
        "images": len(test_labels),
        "correct": correct,
        "accuracy": round(correct / len(test_labels), 6),
        "training_images": len(train_labels),
        "jax": jax.__version__,
        "scikit-learn": sklearn.__version__,
    }
    (folder / "expected.json").write_text(json.dumps(summary, indent=2) + "\n")
    print(f"{correct} of {len(test_labels)} test images read correctly: {correct / len(test_labels):.2%}")


if __name__ == "__main__":
    main()
