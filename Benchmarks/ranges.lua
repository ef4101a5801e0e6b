-- Random ranges of 64 KiB of a file of 1 GiB, for wrk.
local size, total = 65536, 1073741824

function init()
    math.randomseed(42)
end

function request()
    local first = math.random(0, total / size - 1) * size
    return wrk.format("GET", nil, { ["Range"] = "bytes=" .. first .. "-" .. (first + size - 1) })
end
