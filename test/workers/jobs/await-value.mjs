/** Awaits a value of an event count. */
import { attach } from '../attach.mjs';

export default function awaitValue({ handle, value }) {
  attach(handle).await(value);
}
