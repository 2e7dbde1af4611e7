"""Classifies pictures with an ONNX model, for content-worker --classifier. prepare makes the program around it."""

import argparse
import array
import io
import os
import socket
import statistics
import sys
import time

# Threads of numpy would run outside the confinement, and so would reports about the use of onnxruntime.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"}

from PIL import Image  # noqa: E402

import confinement  # noqa: E402
import model  # noqa: E402

# The formats of Sources/Device/CPictureExchange, by number.
FORMATS = ["PNG", "JPEG", "GIF", "WEBP"]


def numbers(text):
    return [float(number) for number in text.split(",")]


def channels(text):
    values = numbers(text)
    if len(values) not in (1, 3):
        raise ValueError
    return values


def parse(arguments):
    parser = argparse.ArgumentParser(prog="classifier", description="Classify pictures with an ONNX model.")
    parser.add_argument("model", help="the file of the model")
    parser.add_argument("--check", action="store_true", help="show what the kernel denies, and the model's speed")
    parser.add_argument("--size", type=int, help="pixels of each side, for a model that takes any")
    parser.add_argument("--mean", type=channels, default=[0.0], help="subtracted from channels between 0 and 1")
    parser.add_argument("--deviation", type=channels, default=[1.0], help="divides the difference from the mean")
    parser.add_argument("--channels", choices=["RGB", "BGR"], default="RGB", help="the order of the channels")
    parser.add_argument("--activation", choices=["none", "softmax", "sigmoid"], default="none",
                        help="makes probabilities of the model's values")
    parser.add_argument("--sensitive", type=lambda text: [int(number) for number in text.split(",")], default=[1],
                        help="the numbers of the sensitive classes, from 0; their probabilities are added")
    parser.add_argument("--threshold", type=float, default=0.5, help="the least sum of a sensitive picture")
    settings = parser.parse_args(arguments)
    if min(settings.sensitive) < 0:
        parser.error("--sensitive has a negative number")
    return settings


def encoded(format):
    """A picture with detail, of a format."""
    file = io.BytesIO()
    pixels = bytes((x * y + 31 * x) % 256 for y in range(256) for x in range(256) for _ in range(3))
    Image.frombytes("RGB", (256, 256), pixels).save(file, format)
    return file.getvalue()


def receive(channel):
    """The format and the bytes of the next picture; nothing at the end of the socket."""
    size = array.array("i").itemsize
    kind, controls, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(size))
    if not kind:
        return None
    level, type, data = controls[0]
    if (level, type) != (socket.SOL_SOCKET, socket.SCM_RIGHTS):
        raise ValueError("no descriptor")
    with os.fdopen(array.array("i", data[:size])[0], "rb") as file:
        # The sender has written the file, and its offset is at the end.
        return kind[0], os.pread(file.fileno(), model.BYTES + 1, 0)


def serve(classifier):
    with socket.socket(fileno=0) as channel:
        try:
            has_namespaces, has_landlock = confinement.confine()
        except (confinement.Failure, OSError):
            channel.send(bytes(3))
            return 1
        channel.send(bytes([1, has_namespaces, has_landlock]))
        while (picture := receive(channel)) is not None:
            channel.send(bytes([verdict(classifier, *picture)]))
    return 0


def verdict(classifier, number, picture):
    is_readable = number < len(FORMATS) and len(picture) <= model.BYTES
    return classifier.verdict(picture, FORMATS[number]) if is_readable else model.UNKNOWN


def check(classifier):
    is_confined = confinement.check()
    picture, times = encoded("JPEG"), []
    for _ in range(20):
        start = time.perf_counter()
        classifier.verdict(picture, "JPEG")
        times.append(time.perf_counter() - start)
    print(f"time of a picture: {1000 * statistics.median(times):.1f} ms (median of 20)")
    return 0 if is_confined else 1


def main():
    settings = parse(sys.argv[1:])
    try:
        classifier = model.Model(settings.model, settings)
    except model.Failure as failure:
        print(failure, file=sys.stderr)
        return 64
    # Everything is loaded before the first picture of a stranger.
    for format in FORMATS:
        classifier.verdict(encoded(format), format)
    return check(classifier) if settings.check else serve(classifier)


if __name__ == "__main__":
    sys.exit(main())
