-- wrk's requests: METHOD, PATH, BODY, MEDIA and TOKEN of the environment. In path and body, @ becomes a number of its own
-- and # one of a hundred.
local threads = 0
function setup(thread)
  thread:set("place", threads)
  threads = threads + 1
end

local fixed, number, run
local method, path, body = os.getenv("METHOD") or "GET", os.getenv("PATH"), os.getenv("BODY")
local headers = { ["Authorization"] = "Bearer " .. (os.getenv("TOKEN") or ""), ["Content-Type"] = os.getenv("MEDIA") }

function init()
  number, run = 0, os.time() % 1000000
  if not (path .. (body or "")):find("[@#]") then fixed = wrk.format(method, path, headers, body) end
end

function request()
  if fixed then return fixed end
  number = number + 1
  local marks = { ["@"] = run .. "-" .. place .. "-" .. number, ["#"] = tostring((number * 2 + place) % 100) }
  return wrk.format(method, (path:gsub("[@#]", marks)), headers, body and (body:gsub("[@#]", marks)))
end

function done(summary, latency)
  local wrong = summary.errors
  local failed = wrong.status + wrong.connect + wrong.read + wrong.write + wrong.timeout
  io.write(string.format("RESULT %f %f %f %d %d\n", summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, summary.requests, failed))
end
