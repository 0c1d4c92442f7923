from .app import Top as Top
from .run_source import RunSource as RunSource
