"""Side by side with peers: ratios measured in one run, each candidate in its own interpreter."""
