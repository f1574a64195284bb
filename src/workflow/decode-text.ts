import { BatonError } from '../core/baton-error.ts';

/** The text behind the bytes of a workflow file; only UTF-8 without NUL is text. */
export function decodeText(bytes: Uint8Array, path: string): string {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw notText(path, 'nul_character', `byte ${nul + 1} is NUL, so it is a binary file or UTF-16`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw notText(path, 'not_utf8', 'it is not valid UTF-8', cause);
  }
}

function notText(path: string, problem: string, reason: string, cause?: unknown): BatonError {
  return new BatonError('workflow_parse_error', `${path} is not a text file: ${reason}`, {
    cause,
    details: { path, problem },
    nextStep: 'Save the file as UTF-8 text.',
  });
}
