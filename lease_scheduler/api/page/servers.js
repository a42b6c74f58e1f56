/** The servers that the service boots in a lease: from fields of the form to a request. */

const FIELDS = { name: "server_name", image_id: "server_image", count: "server_count", networks: "server_network", key_name: "server_key" };
const OTHERS = Object.values(FIELDS).filter((name) => name !== FIELDS.count);

const isAsked = (values) => OTHERS.some((name) => values[name].trim());

/** Names of the fields that servers need, and that are empty; none if no servers are asked for. */
export const missingOfServers = (values) =>
  isAsked(values) ? [FIELDS.name, FIELDS.image_id].filter((name) => !values[name].trim()) : [];

/** The servers of a request, or null if none are asked for. */
export function serversFrom(values) {
  if (!isAsked(values)) return null;
  const [name, image, count, network, key] = Object.values(FIELDS).map((field) => values[field].trim());
  return [
    {
      name,
      image_id: image,
      // Without a number, there are as many servers as there is room for.
      ...(count ? { count: Number(count) } : {}),
      ...(network ? { networks: [{ network_id: network }] } : {}),
      ...(key ? { key_name: key } : {}),
    },
  ];
}

/** The name of the field that a JSON path below the first of the servers is about. */
export const fieldOfServers = (path) => FIELDS[path.split(/[.[]/)[0]] ?? FIELDS.name;
