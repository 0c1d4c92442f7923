from .backend import CaptureError as CaptureError
from .backend import ScreenshotBackend as ScreenshotBackend
from .backend import create_screenshot_backend as create_screenshot_backend
from .screenshot import Screenshot as Screenshot
from .wayland_backend import WaylandBackend as WaylandBackend
from .x_backends import MSSBackend as MSSBackend
from .x_backends import ScrotBackend as ScrotBackend
