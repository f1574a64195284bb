/** The named parts of a path, `/issue/:project/:id`; null when it is another one. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const here = decoded(given[index] ?? '');
    if (here === null) return null;
    if (part.startsWith(':') && here !== '') found[part.slice(1)] = here;
    else if (part !== here) return null;
  }
  return found;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
