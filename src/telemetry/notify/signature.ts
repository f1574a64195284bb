import { createHmac } from 'node:crypto';
import type { Secret } from '../../core/text/secret.ts';

/**
 * What proves to a receiver that a message is from us, whole and not an old one sent again: an HMAC over the time and the
 * body, byte by byte as it is sent.
 */
export function signatureOf(secret: Secret, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret.reveal()).update(`${timestamp}.${body}`, 'utf8').digest('hex')}`;
}
