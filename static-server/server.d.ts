/** The headers that make a page cross-origin isolated, without which it has no shared memory. */
export declare const ISOLATED: Readonly<Record<string, string>>;

export interface ServeOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** Each answer has these headers; `ISOLATED` by default. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of ports to try, one after the other, while each is in use; 1 by default. */
  readonly tries?: number;
  /** Receives the body of each POST request. Without it such a request is answered as a GET request is. */
  readonly onPost?: (body: string) => void;
}

export interface Served {
  readonly port: number;
  /** Also ends open connections. */
  close(): void;
}

/** Serves the files of the folder, and resolves once the server listens. */
export declare function serve(folder: string, options?: ServeOptions): Promise<Served>;
