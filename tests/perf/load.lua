-- wrk's requests: METHOD, PATH, MEDIA, ACCEPT and TOKEN of the environment, the body from the file BODY. In path and body
-- sixteen @ become a number of its own, ### one of a hundred: as wide as before, so that protobuf's lengths still hold.
local threads = 0
function setup(thread)
  thread:set("place", threads)
  threads = threads + 1
end

local OWN, ONE = ("@"):rep(16), "###"
local fixed, number, run, body
local method, path, file = os.getenv("METHOD") or "GET", os.getenv("PATH"), os.getenv("BODY")
local headers = { ["Authorization"] = "Bearer " .. (os.getenv("TOKEN") or ""), ["Content-Type"] = os.getenv("MEDIA") }
headers["Accept"] = os.getenv("ACCEPT")

function init()
  number, run = 0, os.time() % 1000000
  if file then
    local handle = assert(io.open(file, "rb"))
    body = handle:read("*a")
    handle:close()
  end
  local whole = path .. (body or "")
  if not (whole:find(OWN, 1, true) or whole:find(ONE, 1, true)) then fixed = wrk.format(method, path, headers, body) end
end

local function filled(text, own, one)
  return (text:gsub(OWN, own):gsub(ONE, one))
end

function request()
  if fixed then return fixed end
  number = number + 1
  local own, one = string.format("%06d%02d%08d", run, place, number), string.format("%03d", (number * 2 + place) % 100)
  return wrk.format(method, filled(path, own, one), headers, body and filled(body, own, one))
end

function done(summary, latency)
  local wrong = summary.errors
  local failed = wrong.status + wrong.connect + wrong.read + wrong.write + wrong.timeout
  io.write(string.format("RESULT %f %f %f %d %d\n", summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, summary.requests, failed))
end
