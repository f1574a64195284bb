/** The projects whose facts are in this store. */
export interface Projects {
  /** The project of this name, made if it is new. */
  ensure(name: string, at: number): Promise<Project>;
  list(): Promise<readonly Project[]>;
  /**
   * Inside a transaction only: waits until no other transaction has this lock, and has it until the transaction ends.
   * What is read afterwards is what the others left. Rejects where there is no such project.
   */
  lock(id: string): Promise<void>;
}

export interface Project {
  /** Short and stable; the `project` of every other table. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}
