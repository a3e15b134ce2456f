export function serverScript(): string;
export function brokerScript(): string;
