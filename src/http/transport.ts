/**
 * Sends bytes to a service and reads its answer: the real transport is `undici`, a simulation has its own. One call is one
 * request. Rejects with the signal's reason, or with the error that prevented a complete answer.
 */
export interface Transport extends AsyncDisposable {
  send(request: TransportRequest): Promise<TransportAnswer>;
}

export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  /** The body of the answer is not read. */
  readonly dropsBody?: boolean;
  /**
   * The transport calls it once, just before it sends the first byte (for example after it waited for a connection). If it
   * throws, nothing is sent, and `send` rejects with that error.
   */
  readonly beforeLeaving?: () => void;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case; repeated values are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed, decoded as UTF-8. */
  readonly body: string;
  /** As received on the wire. */
  readonly bytes: number;
}

/** A transport that is loaded with its first request: a project without a remote service needs none. */
export function loadOnFirstUse(load: () => Promise<Transport>): Transport {
  let loaded: Promise<Transport> | undefined;
  return {
    send: async (request) => {
      loaded ??= load();
      return (await loaded).send(request);
    },
    [Symbol.asyncDispose]: async () => {
      await (await loaded)?.[Symbol.asyncDispose]();
    },
  };
}
