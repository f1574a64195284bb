/** A repository on GitHub. */
export interface GithubRepository {
  readonly owner: string;
  readonly name: string;
}

/** The addresses of one GitHub: github.com, a `ghe.com` tenant, or GitHub Enterprise Server. */
export interface GithubAddress {
  /** Of the REST API, without a slash at its end. */
  readonly rest: string;
  readonly graphql: string;
  /** The host that git and people use. */
  readonly web: string;
}

/** `https://api.github.com`, `https://api.octo.ghe.com` or `https://github.example.org/api/v3`; null: not an address. */
export function githubAddress(apiUrl: string): GithubAddress | null {
  const url = URL.parse(apiUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    return null;
  const path = url.pathname.replace(/\/+$/, '');
  const rest = `${url.origin}${path}`;
  if (path.endsWith('/api/v3')) {
    const web = `${url.origin}${path.slice(0, -'/api/v3'.length)}`;
    return { rest, graphql: `${web}/api/graphql`, web };
  }
  return { rest, graphql: `${rest}/graphql`, web: `${url.protocol}//${url.host.replace(/^api\./, '')}` };
}

/** `octocat/hello-world`, as GitHub allows names; null: it is none. */
export function readRepository(text: string): GithubRepository | null {
  const [, owner, name] = /^([A-Za-z0-9][A-Za-z0-9-]{0,99})\/([A-Za-z0-9._-]{1,100})$/.exec(text.trim()) ?? [];
  if (owner === undefined || name === undefined || name === '.' || name === '..') return null;
  return { owner, name: name.replace(/\.git$/, '') };
}

/** The repository that an address of git names on this GitHub; null: another host, or no repository. */
export function repositoryOfUrl(location: string, { web }: Pick<GithubAddress, 'web'>): GithubRepository | null {
  const host = new URL(web).host;
  const scp = /^(?:[^@/]+@)?([^:/]+):(.+)$/.exec(location);
  const url = location.includes('://') ? URL.parse(location) : null;
  const [found, path] = url !== null ? [url.host, url.pathname] : [scp?.[1] ?? '', scp?.[2] ?? ''];
  if (found.toLowerCase() !== host.toLowerCase()) return null;
  return readRepository(path.replace(/^\/+|\/+$/g, ''));
}
