/** A request to Baton is a few lines; the longest is a comment or a query of an agent. */
export const mostBodyBytes = 1_024 * 1_024;

/** The body as text; null when it is larger than it may be. Rejects when it is cut, or is not UTF-8. */
export async function readBody(request: Request): Promise<string | null> {
  if (request.body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let received = 0;
  let text = '';
  for await (const chunk of request.body) {
    received += chunk.byteLength;
    if (received > mostBodyBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What the head of a request says about its body; what comes without a length is counted as it comes. */
export function announcesTooMuch(headers: Headers): boolean {
  return Number(headers.get('content-length') ?? 0) > mostBodyBytes;
}
