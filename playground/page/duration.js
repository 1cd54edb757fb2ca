// Durations as a scenario writes them.

// format returns a number of milliseconds as a scenario writes it, such as 1m30s or 250ms.
export function format(ms) {
  ms = Math.round(ms);
  if (ms === 0) return "0s";
  if (ms % 1000 && ms < 1000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000), seconds = (ms % 60_000) / 1000;
  return (minutes ? `${minutes}m` : "") + (seconds || !minutes ? `${seconds}s` : "");
}
