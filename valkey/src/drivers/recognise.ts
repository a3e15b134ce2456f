import type { Driver } from './driver.js';
export function driverOf(client: unknown): Driver {
  return client as Driver;
}
