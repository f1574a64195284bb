/** The slots that a project has, and how many more it would take if it were alone. */
export interface ShareRequest {
  readonly held: number;
  readonly wanted: number;
}

/**
 * How many more of the shared slots each project would get. The pool assigns them one at a time, to the project that
 * has the fewest and still wants one; among equals to the first.
 */
export function fairShares(requests: readonly ShareRequest[], limit: number): number[] {
  const shares = requests.map(() => 0);
  let free = limit - requests.reduce((sum, { held }) => sum + held, 0);
  for (; free > 0; free -= 1) {
    const [next] = requests
      .map(({ held, wanted }, index) => ({
        index,
        has: held + (shares[index] ?? 0),
        left: wanted - (shares[index] ?? 0),
      }))
      .filter(({ left }) => left > 0)
      .sort((one, other) => one.has - other.has);
    if (next === undefined) break;
    shares[next.index] = (shares[next.index] ?? 0) + 1;
  }
  return shares;
}
