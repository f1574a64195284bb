import type { HttpClient } from '../../http/http.ts';
import type { WaysOut } from './send-message.ts';

/** One client an address, for as long as Baton lives: the settings are read again and again, with new secrets each time. */
export function clientsByAddress(http: WaysOut['http']): WaysOut['http'] {
  const clients = new Map<string, HttpClient>();
  return (url, allowInsecure) => {
    const key = `${allowInsecure} ${url.reveal()}`;
    const known = clients.get(key) ?? http(url, allowInsecure);
    clients.set(key, known);
    return known;
  };
}
