/** How often each table was written to over one connection. SQLite itself reports to a connection only the writes of other connections. */
export class TableWrites {
  readonly #tables = new Map<string, number>();
  /** Statements that name no table in the first place: of those any may be meant. */
  #anywhere = 0;

  /** A statement that is no select was carried out, or tried. */
  note(statement: string): void {
    const table = /^(?:insert into|update|delete from) "(\w+)"/.exec(statement)?.[1];
    if (table !== undefined) this.#tables.set(table, (this.#tables.get(table) ?? 0) + 1);
    else if (!/^(?:begin|commit)\b/.test(statement)) this.#anywhere += 1;
  }

  of(table: string): number {
    return (this.#tables.get(table) ?? 0) + this.#anywhere;
  }
}
