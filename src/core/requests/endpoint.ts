/**
 * Whether a credential may travel to this address: by `https`, by `http` where it stays on this machine, or by `http`
 * where the workflow file insists (`allow_insecure_endpoint`). Anything that is not such an address is never secure
 * enough.
 */
export function isSecureEnough(address: string, allowInsecure: boolean): boolean {
  const url = URL.parse(address);
  if (url === null || url.hostname === '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (allowInsecure || isLoopback(url.hostname));
}

/** `localhost`, anything below it, 127.0.0.0/8 and `::1`, as `URL` writes the host: one spelling for each address. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
  );
}
