from .comparison import compare_tests as compare_tests
from .files import is_checked_by as is_checked_by
from .files import is_test as is_test
