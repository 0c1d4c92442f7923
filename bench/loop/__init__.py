"""The closed loop: scripted agents that hear what they are told, driven through the real supervisor."""
