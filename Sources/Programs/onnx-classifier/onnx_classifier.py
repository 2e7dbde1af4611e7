"""Classifies pictures with an ONNX model, for content-worker --classifier. prepare makes the program around it."""

import argparse
import array
import io
import math
import os
import socket
import statistics
import sys
import time

# Threads of numpy would run outside the confinement, and so would reports about the use of onnxruntime.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"}

from PIL import Image, ImageCms  # noqa: E402

import confinement  # noqa: E402
import model  # noqa: E402

# The formats of Sources/Device/CPictureExchange, by number.
FORMATS = ["PNG", "JPEG", "GIF", "WEBP"]


def number(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def channels(text):
    values = [number(part) for part in text.split(",")]
    if len(values) not in (1, 3):
        raise ValueError
    return values


def deviations(text):
    values = channels(text)
    if min(values) < 1e-6:
        raise ValueError
    return values


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="classifier", description="Classify pictures with an ONNX model.")
    parser.add_argument("model", help="the file of the model")
    parser.add_argument("--check", action="store_true", help="show what the kernel denies, and the model's speed")
    parser.add_argument("--size", type=positive, help="pixels of each side, for a model that takes any")
    parser.add_argument("--mean", type=channels, default=[0.0], help="subtracted from channels between 0 and 1")
    parser.add_argument("--deviation", type=deviations, default=[1.0], help="divides the difference from the mean")
    parser.add_argument("--channels", choices=["RGB", "BGR"], default="RGB", help="the order of the channels")
    parser.add_argument("--activation", choices=["none", "softmax", "sigmoid"], default="none",
                        help="makes probabilities of the model's values")
    parser.add_argument("--sensitive", type=lambda text: [int(part) for part in text.split(",")], default=[1],
                        help="the numbers of the sensitive classes, from 0; their probabilities are added")
    parser.add_argument("--threshold", type=number, default=0.5, help="the least sum of a sensitive picture")
    settings = parser.parse_args(arguments)
    if min(settings.sensitive) < 0:
        parser.error("--sensitive has a negative number")
    settings.sensitive = sorted(set(settings.sensitive))
    most = 1 if settings.activation == "softmax" else len(settings.sensitive)
    if settings.activation != "none" and not 0 < settings.threshold <= most:
        parser.error(f"--threshold is more than 0 and at most {most}")
    return settings


def encoded(format):
    """A picture with detail, of a format."""
    file = io.BytesIO()
    pixels = bytes((x * y + 31 * x) % 256 for y in range(256) for x in range(256) for _ in range(3))
    profile = ImageCms.ImageCmsProfile(model.SRGB).tobytes()
    Image.frombytes("RGB", (256, 256), pixels).save(file, format, icc_profile=profile)
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
        except Exception:
            channel.send(bytes(3))
            return 1
        channel.send(bytes([1, has_namespaces, has_landlock]))
        while (picture := receive(channel)) is not None:
            channel.send(bytes([verdict(classifier, *picture)]))
    return 0


def verdict(classifier, number, picture):
    is_readable = number < len(FORMATS) and len(picture) <= model.BYTES
    return classifier.verdict(picture, FORMATS[number]) if is_readable else model.UNKNOWN


def check(classifier, picture):
    """Prints what the kernel denies, and the time of a JPEG picture in a confined child."""
    is_confined = confinement.check()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        try:
            confinement.confine()
            os.write(1, str(median_time(classifier, picture)).encode())
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.close(writer)
    text = os.read(reader, 100)
    if os.waitpid(child, 0)[1] != 0 or not text:
        print("time of a picture: none, because the confined process has no verdict")
        return 1
    print(f"time of a picture: {1000 * float(text):.1f} ms (median of 20)")
    return 0 if is_confined else 1


def median_time(classifier, picture):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        if classifier.verdict(picture, "JPEG") == model.UNKNOWN:
            raise ValueError
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    settings = parse(sys.argv[1:])
    try:
        classifier = model.Model(settings.model, settings)
    except model.Failure as failure:
        print(failure, file=sys.stderr)
        return 64
    # Everything is loaded before the first picture of a stranger.
    samples = {format: encoded(format) for format in FORMATS}
    for format, picture in samples.items():
        if classifier.verdict(picture, format) == model.UNKNOWN:
            print(f"{settings.model} has no finite value for a {format} picture.", file=sys.stderr)
            return 64
    return check(classifier, samples["JPEG"]) if settings.check else serve(classifier)


if __name__ == "__main__":
    sys.exit(main())
