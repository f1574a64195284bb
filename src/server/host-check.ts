import { isIP } from 'node:net';

/**
 * Whose requests are heard. A browser on this machine runs pages of strangers: one may send requests here (it then tells
 * its `Origin`), or make its own name lead to this machine (then the `Host` is that name). Neither is answered.
 */

/** The names under which a listener on this port is reached, as a `Host` header has them; `bound` is where it listens. */
function ownHosts(port: number, bound: string): readonly string[] {
  const names = [...new Set(['127.0.0.1', 'localhost', '[::1]', isIP(bound) === 6 ? `[${bound}]` : bound])];
  // A client leaves the port out where it is the usual one.
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

export function isOwnHost(host: string | null, port: number, bound = '127.0.0.1'): boolean {
  return host !== null && ownHosts(port, bound).includes(host.toLowerCase());
}

/** A program sends none; a page of ours sends our own. `null`, which is what a hidden origin looks like, is a stranger's. */
export function isOwnOrigin(origin: string | null, port: number, bound = '127.0.0.1'): boolean {
  return origin === null || ownHosts(port, bound).some((host) => origin.toLowerCase() === `http://${host}`);
}

export interface HostRule {
  isOwnHost(host: string | null): boolean;
  isOwnOrigin(origin: string | null, host: string | null): boolean;
}

/** Of a listener on the loopback address, or on another one that only this machine reaches. */
export function loopbackRule(port: number, bound: string): HostRule {
  return {
    isOwnHost: (host) => isOwnHost(host, port, bound),
    isOwnOrigin: (origin) => isOwnOrigin(origin, port, bound),
  };
}

/**
 * Of a listener that others reach too. An address in numbers leads here by itself; a name has to be one of those given,
 * or this machine's. A page may only talk to where it came from. Everybody shows a token besides.
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

/** As a URL writes it: lower case, without the usual port. */
function plainHost(host: string): string | null {
  return URL.parse(`http://${host}`)?.host ?? null;
}
