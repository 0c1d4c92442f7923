from .backend import InputBackend as InputBackend
from .backend import InputError as InputError
from .backend import create_input_backend as create_input_backend
