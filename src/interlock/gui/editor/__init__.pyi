from .profile import write_profile as write_profile
