/**
 * Whose requests are heard. A browser on this machine runs pages of strangers: one may send requests here (it then tells
 * its `Origin`), or make its own name lead to this machine (then the `Host` is that name). Neither is answered.
 */

/** The names under which a listener on this port is reached, as a `Host` header has them. */
function ownHosts(port: number): readonly string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  // A client leaves the port out where it is the usual one.
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

export function isOwnHost(host: string | null, port: number): boolean {
  return host !== null && ownHosts(port).includes(host.toLowerCase());
}

/** A program sends none; a page of ours sends our own. `null`, which is what a hidden origin looks like, is a stranger's. */
export function isOwnOrigin(origin: string | null, port: number): boolean {
  return origin === null || ownHosts(port).some((host) => origin.toLowerCase() === `http://${host}`);
}
