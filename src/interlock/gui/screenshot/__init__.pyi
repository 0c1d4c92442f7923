from .backend import CaptureError as CaptureError
from .backend import ScreenshotBackend as ScreenshotBackend
from .backend import create_screenshot_backend as create_screenshot_backend
from .mss_backend import MSSBackend as MSSBackend
from .screenshot import Screenshot as Screenshot
from .scrot_backend import ScrotBackend as ScrotBackend
from .wayland_backend import WaylandBackend as WaylandBackend
