"""The routes of the sandbox: what they take, how they are described, who may use them."""
