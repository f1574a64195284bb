/**
 * The candidate that the user most likely meant, or null. A typing error changes a few letters; another common error
 * puts the right name into the wrong section.
 */
export function nearestKey(key: string, candidates: readonly string[]): string | null {
  if (key.length > longestCompared) return null;
  let nearest: string | null = null;
  let least = Math.max(2, Math.floor(lastName(key).length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = lastName(candidate) === lastName(key) ? 1 : editDistance(key, candidate);
    if (distance < least) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** A comparison costs the product of both lengths; a longer text is not a misspelt key. */
const longestCompared = 80;

function lastName(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** Levenshtein distance: the number of letters to insert, delete or change. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const changed = left[row - 1] === right[column - 1] ? 0 : 1;
      const viaChange = (previous[column - 1] ?? 0) + changed;
      const viaInsert = (current[column - 1] ?? 0) + 1;
      const viaRemoval = (previous[column] ?? 0) + 1;
      current.push(Math.min(viaChange, viaInsert, viaRemoval));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
