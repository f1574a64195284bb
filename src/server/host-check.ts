import { isIP } from 'node:net';

/**
 * Which requests the listener accepts. A browser on this machine runs pages of other sites. Such a page may send
 * requests here (then they carry its `Origin`), or point its own name at this machine (then the `Host` is that name).
 * Both are refused.
 */

/** The values of a `Host` header that name a listener on this port; `bound` is the address it listens on. */
function ownHosts(port: number, bound: string): readonly string[] {
  const names = [...new Set(['127.0.0.1', 'localhost', '[::1]', isIP(bound) === 6 ? `[${bound}]` : bound])];
  // Clients leave out the default port.
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

export function isOwnHost(host: string | null, port: number, bound = '127.0.0.1'): boolean {
  return host !== null && ownHosts(port, bound).includes(host.toLowerCase());
}

/** Programs send no `Origin`; our own pages send ours. `null`, which stands for a hidden origin, counts as foreign. */
export function isOwnOrigin(origin: string | null, port: number, bound = '127.0.0.1'): boolean {
  return origin === null || ownHosts(port, bound).some((host) => origin.toLowerCase() === `http://${host}`);
}

export interface HostRule {
  isOwnHost(host: string | null): boolean;
  isOwnOrigin(origin: string | null, host: string | null): boolean;
}

/** The rule for a listener on the loopback address, or on another address that only this machine reaches. */
export function loopbackRule(port: number, bound: string): HostRule {
  return {
    isOwnHost: (host) => isOwnHost(host, port, bound),
    isOwnOrigin: (origin) => isOwnOrigin(origin, port, bound),
  };
}

/**
 * The rule for a listener that other machines reach. A `Host` must be a numeric address, a configured name or
 * `localhost`. A page may send requests only to the host it came from. Every caller needs a token as well.
 */
export function openRule(names: readonly string[]): HostRule {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return {
    isOwnHost: (host) => {
      const name = hostName(host);
      return name !== null && (known.has(name) || isIP(name.replaceAll(/^\[|\]$/g, '')) > 0);
    },
    isOwnOrigin: (origin, host) => {
      if (origin === null) return true;
      const site = URL.parse(origin);
      return site !== null && host !== null && /^https?:$/.test(site.protocol) && site.host === plainHost(host);
    },
  };
}

function hostName(host: string | null): string | null {
  return host === null ? null : (URL.parse(`http://${host}`)?.hostname ?? null);
}

/** The host as a URL writes it: lower case, without the default port. */
function plainHost(host: string): string | null {
  return URL.parse(`http://${host}`)?.host ?? null;
}
