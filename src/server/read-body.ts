/** A request to Baton is short; the longest is a comment or a query of an agent. */
export const mostBodyBytes = 1_024 * 1_024;
/** On the local socket also a file of issues, in base64. */
const mostLocalBodyBytes = 16 * mostBodyBytes;

/** Returns the body as text, or null when it is too large. Rejects when it is cut off or is not UTF-8. */
export async function readBody(request: Request, isLocal = false): Promise<string | null> {
  if (request.body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let received = 0;
  let text = '';
  for await (const chunk of request.body) {
    received += chunk.byteLength;
    if (received > mostBytes(isLocal)) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Checks the announced length alone; `readBody` counts a body that comes without one. */
export function announcesTooMuch(headers: Headers, isLocal = false): boolean {
  return Number(headers.get('content-length') ?? 0) > mostBytes(isLocal);
}

function mostBytes(isLocal: boolean): number {
  return isLocal ? mostLocalBodyBytes : mostBodyBytes;
}
