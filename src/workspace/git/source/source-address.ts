import type { RepositorySettings } from '../../../core/settings.ts';
import type { GitCall } from '../git.ts';

export interface SourceAddress {
  readonly url: string;
  readonly secretSettings: NonNullable<GitCall['secretSettings']>;
}

/** Some hosts take a token in place of the user; no name of a person is this long. */
const leastTokenChars = 20;

/**
 * The address without its password, which every user of the machine could read in the list of processes, and the
 * password as a header in git's environment, which only the same user can read.
 */
export function sourceAddress({ location }: RepositorySettings): SourceAddress {
  const parts = /^(https?:\/\/)([^/?#]*)@([^/?#@]*)(.*)$/.exec(location);
  if (parts === null) return { url: location, secretSettings: [] };
  const [, scheme = '', user = '', host = '', rest = ''] = parts;
  if (!user.includes(':') && user.length < leastTokenChars) return { url: location, secretSettings: [] };
  const [name = '', ...password] = user.split(':');
  const credentials = `${decoded(name)}:${decoded(password.join(':'))}`;
  const header = `Authorization: Basic ${Buffer.from(credentials).toString('base64')}`;
  return {
    url: `${scheme}${host}${rest}`,
    secretSettings: [[`http.${scheme}${host}/.extraHeader`, header]],
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
