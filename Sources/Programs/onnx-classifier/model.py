"""An ONNX model as a classifier of pictures."""

import io

import numpy
import onnxruntime
from PIL import Image, ImageCms, ImageOps

CLEAN, SENSITIVE, UNKNOWN = range(3)
# Pillow changes the brightness of others, such as grey with 16 bits, so that a picture can hide.
MODES = {"1", "L", "LA", "P", "RGB", "RGBA", "CMYK"}
SRGB = ImageCms.createProfile("sRGB")
# The gamma of sRGB in a PNG picture. Viewers show other pictures brighter or darker than their values.
GAMMA = 0.45455
# The pixels and bytes of a picture, as devices limit them.
PIXELS, BYTES = 1024 * 1024, 65536


class Failure(Exception):
    """A model that is no classifier of pictures."""


class Model:
    """A model with one picture as its input and one value for each class as its first output."""

    def __init__(self, path, settings):
        options = onnxruntime.SessionOptions()
        # Threads would run outside the confinement.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise Failure(f"{path} is no ONNX model that this version reads: {error}") from None
        inputs = self.session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type != "tensor(float)":
            raise Failure(f"{path} does not have one picture of floats as its input.")
        self.input, shape = inputs[0].name, inputs[0].shape
        self.has_channels_first = shape[1] == 3
        if not self.has_channels_first and shape[3] != 3:
            raise Failure(f"{path} has no dimension of three channels in its input, {shape}.")
        sides = shape[2:] if self.has_channels_first else shape[1:3]
        self.height, self.width = (side if isinstance(side, int) else settings.size for side in sides)
        if not self.height or not self.width:
            raise Failure(f"{path} takes pictures of any size. Choose one with --size.")
        self.settings = settings
        self.mean = numpy.array(settings.mean, numpy.float32)
        self.deviation = numpy.array(settings.deviation, numpy.float32)
        try:
            classes = self.values(Image.new("RGB", (self.width, self.height))).size
        except Exception as error:
            raise Failure(f"{path} does not classify one picture: {error}") from None
        if max(settings.sensitive) >= classes:
            raise Failure(f"{path} has {classes} classes; --sensitive names class {max(settings.sensitive)}.")

    def verdict(self, picture, format):
        """The verdict on an encoded picture of a stranger."""
        try:
            copies = self.copies(picture, format)
            scores = [self.score(copy) for copy in copies]
        # Decoders raise errors of many types.
        except Exception:
            return UNKNOWN
        if not numpy.isfinite(scores).all():
            return UNKNOWN
        return CLEAN if max(scores) < self.settings.threshold else SENSITIVE

    def copies(self, picture, format):
        """The whole picture in the model's size, in each form in which viewers may show it."""
        image = Image.open(io.BytesIO(picture), formats=[format])
        if image.width * image.height > PIXELS or image.mode not in MODES:
            raise ValueError
        image.load()
        if format == "PNG":
            reject_ambiguous(image, picture)
        image = ImageOps.exif_transpose(image)
        forms = [image]
        if profile := image.info.get("icc_profile"):
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            forms.append(ImageCms.profileToProfile(without_alpha(image), source, SRGB, outputMode="RGB"))
        copies = [copy for form in forms for copy in opaque(form)]
        size = (self.width, self.height)
        return [copy.convert("RGB").resize(size, Image.Resampling.BILINEAR) for copy in copies]

    def values(self, copy):
        """The model's values for its classes."""
        pixels = numpy.asarray(copy, numpy.float32) / numpy.float32(255)
        pixels = (pixels - self.mean) / self.deviation
        if self.settings.channels == "BGR":
            pixels = pixels[:, :, ::-1]
        if self.has_channels_first:
            pixels = pixels.transpose(2, 0, 1)
        outputs = self.session.run(None, {self.input: numpy.ascontiguousarray(pixels[numpy.newaxis])})
        return numpy.asarray(outputs[0], numpy.float64).ravel()

    def score(self, copy):
        """The sum of the sensitive classes."""
        values = self.values(copy)
        if self.settings.activation == "softmax":
            values = numpy.exp(values - values.max())
            values /= values.sum()
        elif self.settings.activation == "sigmoid":
            values = 1 / (1 + numpy.exp(-values))
        return values[self.settings.sensitive].sum()


def reject_ambiguous(image, picture):
    """Refuses a PNG picture whose brightness or transparency depends on the viewer."""
    if abs(image.info.get("gamma", GAMMA) - GAMMA) > 0.01 or b"cICP" in picture:
        raise ValueError
    # Viewers scale a transparent colour in another way than Pillow.
    if image.mode != "P" and "transparency" in image.info:
        raise ValueError


def opaque(image):
    """A transparent picture over white, over black and without its transparency; any other one as it is."""
    if not image.has_transparency_data:
        return [image]
    alpha = image.convert("RGBA")
    backgrounds = [Image.new("RGBA", image.size, color) for color in ("white", "black")]
    return [Image.alpha_composite(background, alpha) for background in backgrounds] + [without_alpha(image)]


def without_alpha(image):
    """The picture in a mode without transparency. A picture for print keeps its four inks."""
    if image.mode == "CMYK":
        return image
    return image.convert("RGBA").convert("RGB") if image.has_transparency_data else image.convert("RGB")
