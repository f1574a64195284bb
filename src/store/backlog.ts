/** How much may wait; several backlogs may share the bytes. */
export interface BacklogCapacity {
  readonly mostItems: number;
  readonly mostBytes: number;
  readonly shared: SharedBytes;
}

export interface SharedBytes {
  readonly most: number;
  used: number;
}

/** Items that are being written. They take up capacity until they are `done`, or `putBack` to be tried again. */
export interface BacklogBatch<Item> {
  readonly items: readonly Item[];
  readonly bytes: number;
}

/**
 * Items that wait to be written somewhere that may be slow, or fail for a while. What must hold: it never takes more
 * than its capacity, and one item; items being written count too; the order stays; dropped items are counted.
 */
export class Backlog<Item> {
  readonly #capacity: BacklogCapacity;
  #waiting: Item[] = [];
  #waitingBytes = 0;
  #items = 0;
  #bytes = 0;
  #dropped = 0;

  constructor(capacity: BacklogCapacity) {
    this.#capacity = capacity;
  }

  get hasSpace(): boolean {
    const { mostItems, mostBytes, shared } = this.#capacity;
    return this.#items < mostItems && this.#bytes < mostBytes && shared.used < shared.most;
  }

  /** Those that are not being written yet. */
  get size(): { readonly items: number; readonly bytes: number } {
    return { items: this.#waiting.length, bytes: this.#waitingBytes };
  }

  /** Items dropped since the last `takeDropped`. */
  get dropped(): number {
    return this.#dropped;
  }

  add(item: Item, bytes: number): void {
    this.#waiting.push(item);
    this.#waitingBytes += bytes;
    this.#count(1, bytes);
  }

  drop(): void {
    this.#dropped += 1;
  }

  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  take(): BacklogBatch<Item> {
    const batch = { items: this.#waiting, bytes: this.#waitingBytes };
    this.#waiting = [];
    this.#waitingBytes = 0;
    return batch;
  }

  /** The batch is written, or given up: it no longer counts as waiting. */
  done(batch: BacklogBatch<Item>): void {
    this.#count(-batch.items.length, -batch.bytes);
  }

  putBack(batch: BacklogBatch<Item>): void {
    this.#waiting = [...batch.items, ...this.#waiting];
    this.#waitingBytes += batch.bytes;
  }

  #count(items: number, bytes: number): void {
    this.#items += items;
    this.#bytes += bytes;
    this.#capacity.shared.used += bytes;
  }
}
