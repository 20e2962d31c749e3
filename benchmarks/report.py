def markdown(results): return ""
def save(results): pass
