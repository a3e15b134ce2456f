/** Calls one method; returns what it returns, if that can be sent. */
import { attach } from '../attach.mjs';

export default async function call({ handle, method, args = [] }) {
  await attach(handle)[method](...args);
}
