// Durations as a scenario writes them.

// format returns a number of milliseconds as a scenario writes it, such as 1h, 1m30s or 250ms.
export function format(ms) {
  ms = Math.round(ms);
  if (ms === 0) return "0s";
  if (ms % 1000 && ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000), minutes = Math.floor(ms / 60_000) % 60, seconds = (ms % 60_000) / 1000;
  return (hours ? `${hours}h` : "") + (minutes ? `${minutes}m` : "") + (seconds || !hours && !minutes ? `${seconds}s` : "");
}
