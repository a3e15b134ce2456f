/** The headers that make a page cross-origin isolated. Without these headers a page has no shared memory. */
export declare const ISOLATED: Readonly<Record<string, string>>;

export interface ServeOptions {
  /** The port. 0, the default, takes any free port. */
  readonly port?: number;
  /** The address to listen on. 127.0.0.1 by default. */
  readonly host?: string;
  /** The headers of each answer. `ISOLATED` by default. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many ports to try, one after the other, if ports are in use. 1 by default. */
  readonly tries?: number;
  /** Receives the body of each POST request. Without this function, a POST request is answered like a GET request. */
  readonly onPost?: (body: string) => void;
}

export interface Served {
  readonly port: number;
  /** Stops the server, and ends open connections. */
  close(): void;
}

/** Serves the files of the folder, and resolves once the server listens. */
export declare function serve(folder: string, options?: ServeOptions): Promise<Served>;
