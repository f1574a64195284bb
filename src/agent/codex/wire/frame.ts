import { parseJson } from '../../../core/text/parse-json.ts';
import { type Fields, fieldsOf, isFields } from '../../wire/fields.ts';

/** Ids of requests may be numbers, zero included, or text; each side counts its own. */
export type RequestId = number | string;

/** One line of the protocol. Codex leaves out `jsonrpc`; whether it is there makes no difference. */
export type Frame =
  | { readonly kind: 'answer'; readonly id: RequestId; readonly whole: Fields }
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: Fields;
      readonly whole: Fields;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Fields; readonly whole: Fields }
  | { readonly kind: 'other'; readonly whole: unknown };

/** The frame on a line, or null when the line is not JSON. */
export function readFrame(line: string): Frame | null {
  let whole: unknown;
  try {
    whole = parseJson(line);
  } catch {
    return null;
  }
  if (!isFields(whole)) return { kind: 'other', whole };
  const { id, method } = whole;
  const hasId = typeof id === 'number' || typeof id === 'string';
  if (typeof method === 'string') {
    const params = fieldsOf(whole.params);
    return hasId ? { kind: 'request', id, method, params, whole } : { kind: 'notification', method, params, whole };
  }
  if (hasId && ('result' in whole || 'error' in whole)) return { kind: 'answer', id, whole };
  return { kind: 'other', whole };
}
