const mostNamed = 3;

/** The things that the user may have meant, the nearest first: one name contains the other, or a few letters differ. */
export function nearest<Thing>(
  wanted: string,
  things: readonly Thing[],
  namesOf: (thing: Thing) => readonly string[],
): readonly Thing[] {
  const target = plain(wanted);
  return things
    .map((thing) => ({ thing, away: Math.min(...namesOf(thing).map((name) => distance(target, plain(name)))) }))
    .filter(({ away }) => away <= Math.max(2, Math.floor(target.length / 3)))
    .toSorted((left, right) => left.away - right.away)
    .slice(0, mostNamed)
    .map(({ thing }) => thing);
}

/** Letters and digits alone. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

function distance(left: string, right: string): number {
  if (left.length >= 3 && right.length >= 3 && (left.includes(right) || right.includes(left))) return 1;
  return editDistance(left.slice(0, 100), right.slice(0, 100));
}

/** The number of letters to insert, delete or change. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (const [index, other] of [...right].entries()) {
      const changed = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
