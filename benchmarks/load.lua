-- wrk's script for one run. Its argument is a Lua file, written by load.py, that returns a table:
--   method, headers, body   parts of each request
--   paths                   requested in turn; each thread begins with another path
--                           a body with @new has there a word that no request before had
-- or, if each request needs the version from the previous answer:
--   items                   pairs of id and version, divided among the threads
--   id, version             patterns that find id and version in an answer
--   path, headers, body     parts of each request, with placeholders @id, @version and @new
-- While a request for a resource is in flight, no other request uses the resource, so no version is sent twice. An answer
-- with the version that was sent counts as refused, since nothing was written.

local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

local load, requests, position
local words = 0
local waiting, first, last = {}, 1, 0
local sent = {} -- the version that was sent last, by id
refused = 0 -- global, since done() reads it from another Lua state, as is number, which setup() writes

local function new_word()
  words = words + 1
  return string.format("w%sx%dx%d", run, number, words)
end

function init(arguments)
  load = dofile(arguments[1])
  run = arguments[3]
  if load.items then
    local count = tonumber(arguments[2])
    for i, item in ipairs(load.items) do
      if i % count == number % count then
        last = last + 1
        waiting[last] = item
      end
    end
    response = on_response
  else
    requests = {}
    for i, path in ipairs(load.paths) do
      requests[i] = wrk.format(load.method, path, load.headers, load.body)
    end
    position = (number * 389) % #requests
    brings_words = load.body and load.body:find("@new", 1, true)
  end
end

local function filled(text, item)
  return (text:gsub("@(%a+)", { id = item[1], version = item[2], new = item[3] }))
end

function request()
  if requests then
    position = position % #requests + 1
    if brings_words then
      local body = load.body:gsub("@new", new_word())
      return wrk.format(load.method, load.paths[position], load.headers, body)
    end
    return requests[position]
  end
  local item = waiting[first]
  waiting[first] = nil
  first = first + 1
  sent[item[1]] = item[2]
  item[3] = new_word()
  local headers = {}
  for name, value in pairs(load.headers) do
    headers[name] = filled(value, item)
  end
  return wrk.format(load.method, filled(load.path, item), headers, filled(load.body, item))
end

-- init() makes this function response() only if answers are needed, since wrk passes no answers to a script without one.
function on_response(status, _, body)
  local id, version = body:match(load.id), body:match(load.version)
  if status ~= 200 or not id or not version or version == sent[id] then
    refused = refused + 1
    return
  end
  last = last + 1
  waiting[last] = { id, version }
end

function done(summary, latency, _)
  local errors = summary.errors
  local faults = errors.connect + errors.read + errors.write + errors.timeout
  for _, thread in ipairs(threads) do
    errors.status = math.max(errors.status, thread:get("refused"))
  end
  io.write(string.format(
    'RESULT {"requests": %d, "microseconds": %d, "refused": %d, "faults": %d, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration, errors.status, faults, latency:percentile(50), latency:percentile(99)))
end
