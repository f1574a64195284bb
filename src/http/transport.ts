/**
 * How bytes get to a service and back: the real one is `undici`, a simulation has its own. One call is one request.
 * Rejects with the signal's reason, or with whatever kept it from a whole answer.
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
  /** The body of the answer is not read: the answer ends with its head. */
  readonly dropsBody?: boolean;
  /**
   * To be called once, at the last moment before anything of the request leaves this machine, where there is such a moment
   * (after waiting for a connection, say). When it throws, nothing leaves, and `send` rejects with that.
   */
  readonly beforeLeaving?: () => void;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case; values that came several times are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed, decoded as UTF-8. */
  readonly body: string;
  /** As they came over the wire. */
  readonly bytes: number;
}
