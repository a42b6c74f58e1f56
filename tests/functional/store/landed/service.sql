BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0021');
CREATE TABLE breaches (
	id INTEGER NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	instant BIGINT NOT NULL, 
	seconds BIGINT NOT NULL, 
	node_seconds BIGINT NOT NULL, 
	penalty DOUBLE NOT NULL, 
	CONSTRAINT pk_breaches PRIMARY KEY (id)
);
CREATE TABLE cached_images (
	host_id INTEGER NOT NULL, 
	image_id VARCHAR(255) NOT NULL, 
	used BIGINT NOT NULL, 
	CONSTRAINT pk_cached_images PRIMARY KEY (host_id, image_id), 
	CONSTRAINT fk_cached_images_host_id FOREIGN KEY(host_id) REFERENCES hosts (id) ON DELETE CASCADE
);
CREATE TABLE capacity_changes (
	id INTEGER NOT NULL, 
	instant BIGINT NOT NULL, 
	resource_class VARCHAR(255) NOT NULL, 
	change BIGINT NOT NULL, 
	CONSTRAINT pk_capacity_changes PRIMARY KEY (id)
);
INSERT INTO "capacity_changes" VALUES(1,1795788559,'DISK_GB',2000);
INSERT INTO "capacity_changes" VALUES(2,1795788559,'MEMORY_MB',131072);
INSERT INTO "capacity_changes" VALUES(3,1795788559,'VCPU',32);
CREATE TABLE deliveries (
	id INTEGER NOT NULL, 
	delivery_id VARCHAR(36) NOT NULL, 
	subscription_id VARCHAR(36) NOT NULL, 
	event_type VARCHAR(64) NOT NULL, 
	payload JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_deliveries PRIMARY KEY (id), 
	CONSTRAINT fk_deliveries_subscription_id FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE CASCADE, 
	CONSTRAINT uq_deliveries_delivery_id UNIQUE (delivery_id)
);
CREATE TABLE feeds (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	user_id VARCHAR(255) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_feeds PRIMARY KEY (id), 
	CONSTRAINT uq_feeds_digest UNIQUE (digest)
);
INSERT INTO "feeds" VALUES('539bf3cb-7cde-4ad0-9085-4b1db5aacaa0','physics','ada','wall','edcb9321eda7e4d9d57f72ded27c935c6cf93783d42c4e54b1767aa9c09fa04b',1795788562);
CREATE TABLE floating_ips (
	id VARCHAR(36) NOT NULL, 
	floating_network_id VARCHAR(255) NOT NULL, 
	subnet_id VARCHAR(255), 
	floating_ip_address VARCHAR(64) NOT NULL, 
	reservable BOOLEAN NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT, pool VARCHAR(64), 
	CONSTRAINT pk_floating_ips PRIMARY KEY (id), 
	CONSTRAINT uq_floating_ips_floating_ip_address UNIQUE (floating_ip_address)
);
CREATE TABLE holdings (
	lease_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	start BIGINT NOT NULL, 
	run_start BIGINT NOT NULL, 
	run_end BIGINT NOT NULL, 
	"end" BIGINT NOT NULL, 
	closing VARCHAR(16) NOT NULL, 
	hosts JSON NOT NULL, 
	migrations JSON NOT NULL, 
	CONSTRAINT pk_holdings PRIMARY KEY (lease_id, position), 
	CONSTRAINT fk_holdings_lease_id FOREIGN KEY(lease_id) REFERENCES leases (id) ON DELETE CASCADE
);
INSERT INTO "holdings" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06',0,1795788560,1795788560,1798380560,1798380560,'shutdown','["1", "1"]','[]');
INSERT INTO "holdings" VALUES('a663375e-f6a0-4c8f-a173-9604c64b45a9',0,1797753600,1797753600,1797789600,1797789600,'shutdown','["2", "3"]','[]');
INSERT INTO "holdings" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4',0,1795788561,1795788561,1795810161,1795810161,'shutdown','["2", "2"]','[]');
INSERT INTO "holdings" VALUES('d15693b8-c0d6-4790-9288-9552690caddc',0,1795788561,1795788561,1795961361,1795961361,'shutdown','["3", "3"]','[]');
INSERT INTO "holdings" VALUES('ec1a4f9b-a03a-4387-a9be-c86ea093daa2',0,1797840000,1797840000,1797847200,1797847200,'shutdown','["2", "2"]','[]');
CREATE TABLE host_properties (
	host_id INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_host_properties PRIMARY KEY (host_id, name), 
	CONSTRAINT fk_host_properties_host_id FOREIGN KEY(host_id) REFERENCES hosts (id) ON DELETE CASCADE
);
CREATE TABLE hosts (
	id INTEGER NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	hypervisor_type VARCHAR(255) NOT NULL, 
	hypervisor_version INTEGER NOT NULL, 
	vcpus INTEGER NOT NULL, 
	cpu_info TEXT NOT NULL, 
	memory_mb INTEGER NOT NULL, 
	local_gb INTEGER NOT NULL, 
	service_name VARCHAR(255) NOT NULL, 
	availability_zone VARCHAR(255), 
	capacity JSON NOT NULL, 
	max_unit JSON NOT NULL, 
	traits JSON NOT NULL, 
	reservable BOOLEAN NOT NULL, 
	out_until BIGINT, 
	trust_id VARCHAR(255), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT, providers JSON, pool VARCHAR(64), power VARCHAR(16), power_since BIGINT, slept BIGINT, 
	CONSTRAINT pk_hosts PRIMARY KEY (id), 
	CONSTRAINT uq_hosts_name UNIQUE (name)
);
INSERT INTO "hosts" VALUES(1,'compute-1','simulated',1,8,'{"arch": "x86_64", "vendor": "simulated"}',32768,500,'compute-1',NULL,'{"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500}','{}','[]',1,NULL,NULL,1795788559,NULL,'[]',NULL,NULL,NULL,NULL);
INSERT INTO "hosts" VALUES(2,'compute-2','simulated',1,8,'{"arch": "x86_64", "vendor": "simulated"}',32768,500,'compute-2',NULL,'{"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500}','{}','[]',1,NULL,NULL,1795788559,NULL,'[]',NULL,NULL,NULL,NULL);
INSERT INTO "hosts" VALUES(3,'compute-3','simulated',1,8,'{"arch": "x86_64", "vendor": "simulated"}',32768,500,'compute-3',NULL,'{"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500}','{}','[]',1,NULL,NULL,1795788559,NULL,'[]',NULL,NULL,NULL,NULL);
INSERT INTO "hosts" VALUES(4,'compute-4','simulated',1,8,'{"arch": "x86_64", "vendor": "simulated"}',32768,500,'compute-4',NULL,'{"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500}','{}','[]',1,NULL,NULL,1795788559,NULL,'[]',NULL,NULL,NULL,NULL);
CREATE TABLE idleness (
	lease_id VARCHAR(36) NOT NULL, 
	since BIGINT NOT NULL, 
	seconds BIGINT NOT NULL, 
	seen BIGINT NOT NULL, 
	told_at BIGINT, 
	told_seconds BIGINT NOT NULL, 
	CONSTRAINT pk_idleness PRIMARY KEY (lease_id), 
	CONSTRAINT fk_idleness_lease_id FOREIGN KEY(lease_id) REFERENCES leases (id) ON DELETE CASCADE
);
CREATE TABLE lease_history (
	id INTEGER NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	instant BIGINT NOT NULL, 
	from_state VARCHAR(32) NOT NULL, 
	to_state VARCHAR(32) NOT NULL, 
	reason TEXT NOT NULL, 
	CONSTRAINT pk_lease_history PRIMARY KEY (id), 
	CONSTRAINT fk_lease_history_lease_id FOREIGN KEY(lease_id) REFERENCES leases (id) ON DELETE CASCADE
);
INSERT INTO "lease_history" VALUES(1,'7c68b8f0-ff53-4a11-aa45-cbceef079a06',1795788560,'new','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(2,'7c68b8f0-ff53-4a11-aa45-cbceef079a06',1795788560,'ready','active','its servers run');
INSERT INTO "lease_history" VALUES(3,'a663375e-f6a0-4c8f-a173-9604c64b45a9',1795788560,'new','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(4,'a2ac24de-44f4-4b28-bc60-2cda8a96dcb4',1795788561,'new','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(5,'a2ac24de-44f4-4b28-bc60-2cda8a96dcb4',1795788561,'ready','active','its servers run');
INSERT INTO "lease_history" VALUES(6,'d15693b8-c0d6-4790-9288-9552690caddc',1795788561,'new','queued','it waits for hosts');
INSERT INTO "lease_history" VALUES(7,'d15693b8-c0d6-4790-9288-9552690caddc',1795788561,'queued','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(8,'d15693b8-c0d6-4790-9288-9552690caddc',1795788561,'ready','active','its servers run');
INSERT INTO "lease_history" VALUES(9,'02109831-d6dd-43c0-9b3f-95f54110abb2',1795788561,'new','queued','it waits for hosts');
INSERT INTO "lease_history" VALUES(10,'02109831-d6dd-43c0-9b3f-95f54110abb2',1795788561,'queued','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(11,'02109831-d6dd-43c0-9b3f-95f54110abb2',1795788562,'ready','active','its servers run');
INSERT INTO "lease_history" VALUES(12,'ec1a4f9b-a03a-4387-a9be-c86ea093daa2',1795788562,'new','ready','its hosts are reserved for it');
INSERT INTO "lease_history" VALUES(13,'02109831-d6dd-43c0-9b3f-95f54110abb2',1795788563,'active','done','ended by its project');
CREATE TABLE lease_reservations (
	id VARCHAR(36) NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	resource_type VARCHAR(64) NOT NULL, 
	resource_id VARCHAR(36) NOT NULL, 
	terms JSON NOT NULL, 
	node_sets INTEGER NOT NULL, 
	first_node INTEGER NOT NULL, 
	node_count INTEGER NOT NULL, 
	missing_resources BOOLEAN NOT NULL, 
	resources_changed BOOLEAN NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT, 
	CONSTRAINT pk_lease_reservations PRIMARY KEY (id), 
	CONSTRAINT fk_lease_reservations_lease_id FOREIGN KEY(lease_id) REFERENCES leases (id) ON DELETE CASCADE
);
INSERT INTO "lease_reservations" VALUES('c098daa1-587b-471f-bbff-46d80162e575','7c68b8f0-ff53-4a11-aa45-cbceef079a06',0,'virtual:instance','c098daa1-587b-471f-bbff-46d80162e575','{"resource_properties": "", "nodes": [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, "least_resources": null, "traits": [], "properties": "", "exclusive": false, "per_host": null}], "amount": 2, "affinity": null, "vcpus": 2, "memory_mb": 512, "disk_gb": 1, "aggregate_id": 1}',1,0,2,0,0,1795788560,NULL);
INSERT INTO "lease_reservations" VALUES('bc7844a7-dd13-4051-b6f2-8912f5eb605c','a663375e-f6a0-4c8f-a173-9604c64b45a9',0,'physical:host','bc7844a7-dd13-4051-b6f2-8912f5eb605c','{"resource_properties": "", "nodes": [{"count": 2, "resources": {}, "least_resources": null, "traits": [], "properties": "", "exclusive": true, "per_host": null}], "min": 2, "max": 2, "hypervisor_properties": "", "before_end": "default"}',1,0,2,0,0,1795788560,NULL);
INSERT INTO "lease_reservations" VALUES('9b46fd7f-094e-4071-8f8d-0678229364a6','a2ac24de-44f4-4b28-bc60-2cda8a96dcb4',0,'virtual:instance','9b46fd7f-094e-4071-8f8d-0678229364a6','{"resource_properties": "", "nodes": [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, "least_resources": null, "traits": [], "properties": "", "exclusive": false, "per_host": null}], "amount": 2, "affinity": null, "vcpus": 2, "memory_mb": 512, "disk_gb": 1, "aggregate_id": 2}',1,0,2,0,0,1795788561,NULL);
INSERT INTO "lease_reservations" VALUES('d0010a2e-f073-4226-bf12-c686d59fba8c','d15693b8-c0d6-4790-9288-9552690caddc',0,'virtual:instance','d0010a2e-f073-4226-bf12-c686d59fba8c','{"resource_properties": "", "nodes": [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, "least_resources": null, "traits": [], "properties": "", "exclusive": false, "per_host": null}], "amount": 2, "affinity": null, "vcpus": 2, "memory_mb": 512, "disk_gb": 1, "aggregate_id": 3}',1,0,2,0,0,1795788561,NULL);
INSERT INTO "lease_reservations" VALUES('b9dbf5b5-6f36-4b23-9507-5d636645747e','ec1a4f9b-a03a-4387-a9be-c86ea093daa2',0,'virtual:instance','b9dbf5b5-6f36-4b23-9507-5d636645747e','{"resource_properties": "", "nodes": [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, "least_resources": null, "traits": [], "properties": "", "exclusive": false, "per_host": null}], "amount": 2, "affinity": null, "vcpus": 2, "memory_mb": 512, "disk_gb": 1}',1,0,2,0,0,1795788562,NULL);
INSERT INTO "lease_reservations" VALUES('a3b00819-9d60-4b57-8661-e6c772e748c9','02109831-d6dd-43c0-9b3f-95f54110abb2',0,'virtual:instance','a3b00819-9d60-4b57-8661-e6c772e748c9','{"resource_properties": "", "nodes": [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, "least_resources": null, "traits": [], "properties": "", "exclusive": false, "per_host": null}], "amount": 2, "affinity": null, "vcpus": 2, "memory_mb": 512, "disk_gb": 1, "aggregate_id": 4}',1,0,2,0,0,1795788561,NULL);
CREATE TABLE leases (
	id VARCHAR(36) NOT NULL, 
	sequence BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	revision BIGINT NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	user_id VARCHAR(255) NOT NULL, 
	trust_id VARCHAR(255), 
	kind VARCHAR(16) NOT NULL, 
	maintenance BOOLEAN NOT NULL, 
	submitted BIGINT NOT NULL, 
	requested_start BIGINT, 
	duration BIGINT NOT NULL, 
	deadline BIGINT, 
	preemptible BOOLEAN NOT NULL, 
	preemption_mode VARCHAR(16) NOT NULL, 
	price FLOAT, 
	before_end BIGINT, 
	nodes JSON NOT NULL, 
	servers JSON NOT NULL, 
	on_end VARCHAR(16) NOT NULL, 
	extras JSON NOT NULL, 
	series_id VARCHAR(36), 
	state VARCHAR(32) NOT NULL, 
	reason TEXT NOT NULL, 
	degraded BOOLEAN NOT NULL, 
	before_end_done BOOLEAN NOT NULL, 
	accumulated BIGINT NOT NULL, 
	started BIGINT, 
	ended BIGINT, 
	active_since BIGINT, 
	saved_on JSON, 
	planned_start BIGINT, 
	planned_end BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT, 
	deleted_at BIGINT, max_price DOUBLE, offered_until BIGINT, negotiation_id VARCHAR(36), retained DOUBLE, missing_since BIGINT, missing_nodes INTEGER, penalties DOUBLE, description VARCHAR(255), request_digest VARCHAR(64), origin VARCHAR(255), reminded_start BIGINT, extension_count INTEGER, extended_by BIGINT, longest_duration BIGINT, pool VARCHAR(64), min_lifetime BIGINT, assurance DOUBLE, await_assurance BOOLEAN DEFAULT 0 NOT NULL, assured VARCHAR(16), assured_from BIGINT, planned_lifetime BIGINT, expected_wait BIGINT, expected_wait_from BIGINT, min_yield DOUBLE, virtual_time BIGINT, yield INTEGER, yield_since BIGINT, 
	CONSTRAINT pk_leases PRIMARY KEY (id), 
	CONSTRAINT uq_leases_sequence UNIQUE (sequence)
);
INSERT INTO "leases" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06',0,2,3,'now','physics','ada',NULL,'immediate',0,1795788560,NULL,2592000,NULL,0,'none',NULL,NULL,'[{"count": 2, "resources": {"DISK_GB": 1, "HOST_SHARE": 1, "MEMORY_MB": 512, "VCPU": 2}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'active','',0,0,0,1795788560,NULL,1795788560,'null',1795788560,1798380560,1795788560,NULL,NULL,NULL,NULL,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "leases" VALUES('a663375e-f6a0-4c8f-a173-9604c64b45a9',1,1,4,'course','physics','ada',NULL,'reservation',0,1795788560,1797753600,36000,NULL,0,'none',NULL,1797786000,'[{"count": 2, "resources": {"HOST_SHARE": 1000000}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'ready','',0,0,0,NULL,NULL,NULL,'null',1797753600,1797789600,1795788560,NULL,NULL,NULL,NULL,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "leases" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4',2,2,6,'render','physics','ada',NULL,'deadline',0,1795788561,1795788561,21600,1798142400,1,'shelve',NULL,NULL,'[{"count": 2, "resources": {"DISK_GB": 1, "HOST_SHARE": 1, "MEMORY_MB": 512, "VCPU": 2}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'active','',0,0,0,1795788561,NULL,1795788561,'null',1795788561,1795810161,1795788561,NULL,NULL,NULL,NULL,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "leases" VALUES('d15693b8-c0d6-4790-9288-9552690caddc',3,2,8,'night','physics','ada',NULL,'best-effort',0,1795788561,NULL,172800,NULL,1,'shelve',NULL,NULL,'[{"count": 2, "resources": {"DISK_GB": 1, "HOST_SHARE": 1, "MEMORY_MB": 512, "VCPU": 2}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'active','',0,0,0,1795788561,NULL,1795788561,'null',1795788561,1795961361,1795788561,NULL,NULL,NULL,NULL,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "leases" VALUES('02109831-d6dd-43c0-9b3f-95f54110abb2',4,4,14,'gone','physics','ada',NULL,'best-effort',0,1795788561,NULL,7200,NULL,1,'shelve',NULL,NULL,'[{"count": 2, "resources": {"DISK_GB": 1, "HOST_SHARE": 1, "MEMORY_MB": 512, "VCPU": 2}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'done','ended by its project',0,0,0,1795788562,1795788563,NULL,'null',1795788562,1795788563,1795788561,NULL,NULL,NULL,NULL,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "leases" VALUES('ec1a4f9b-a03a-4387-a9be-c86ea093daa2',5,1,11,'held','physics','ada',NULL,'reservation',0,1795788562,1797840000,7200,NULL,0,'none',NULL,1797843600,'[{"count": 2, "resources": {"DISK_GB": 1, "HOST_SHARE": 1, "MEMORY_MB": 512, "VCPU": 2}, "traits": [], "hosts": null, "per_host": null}]','[]','delete','{}',NULL,'ready','',0,0,0,NULL,NULL,NULL,'null',1797840000,1797847200,1795788562,NULL,NULL,NULL,1795788862,NULL,0.0,NULL,0,0.0,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE "operation_lateness" (
	kind VARCHAR(16) NOT NULL, 
	seconds JSON NOT NULL, 
	pool VARCHAR(64) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_operation_lateness PRIMARY KEY (pool, kind)
);
CREATE TABLE operations (
	id BIGINT NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	hosts JSON NOT NULL, 
	begun BIGINT NOT NULL, 
	due BIGINT NOT NULL, 
	step INTEGER NOT NULL, 
	migration JSON, 
	image JSON, without JSON, 
	CONSTRAINT pk_operations PRIMARY KEY (id)
);
CREATE TABLE outbox (
	id INTEGER NOT NULL, 
	event_type VARCHAR(64) NOT NULL, 
	payload JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_outbox PRIMARY KEY (id)
);
CREATE TABLE "policy_state" (
	family VARCHAR(64) NOT NULL, 
	policy VARCHAR(64) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	state JSON NOT NULL, 
	pool VARCHAR(64) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_policy_state PRIMARY KEY (pool, family, policy, subject)
);
CREATE TABLE resource_properties (
	resource_type VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	private BOOLEAN NOT NULL, 
	CONSTRAINT pk_resource_properties PRIMARY KEY (resource_type, name)
);
CREATE TABLE revenue_records (
	id INTEGER NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	instant BIGINT NOT NULL, 
	outcome VARCHAR(32) NOT NULL, 
	price DOUBLE, 
	max_price DOUBLE, 
	CONSTRAINT pk_revenue_records PRIMARY KEY (id)
);
CREATE TABLE series (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	user_id VARCHAR(255) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	rule TEXT NOT NULL, 
	template JSON NOT NULL, 
	planned_until BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	deleted_at BIGINT, 
	CONSTRAINT pk_series PRIMARY KEY (id)
);
CREATE TABLE sites (
	name VARCHAR(64) NOT NULL, 
	epoch BIGINT NOT NULL, 
	engine VARCHAR(255) NOT NULL, 
	revision BIGINT NOT NULL, 
	next_sequence BIGINT NOT NULL, 
	clock BIGINT NOT NULL, 
	CONSTRAINT pk_sites PRIMARY KEY (name)
);
INSERT INTO "sites" VALUES('default',1,'vm.12916',14,6,1795788569);
CREATE TABLE subscriptions (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	user_id VARCHAR(255) NOT NULL, 
	driver VARCHAR(16) NOT NULL, 
	target TEXT NOT NULL, 
	event_types JSON NOT NULL, 
	lease_id VARCHAR(36), 
	secret VARCHAR(64), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT, 
	ended_at BIGINT, 
	failures INTEGER NOT NULL, 
	next_attempt_at BIGINT, 
	delivered_at BIGINT, 
	last_error VARCHAR(255), 
	CONSTRAINT pk_subscriptions PRIMARY KEY (id)
);
CREATE TABLE usage_records (
	id INTEGER NOT NULL, 
	lease_id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(255) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	phase VARCHAR(16) NOT NULL, 
	start BIGINT NOT NULL, 
	"end" BIGINT NOT NULL, 
	nodes INTEGER NOT NULL, 
	resources JSON NOT NULL, 
	hosts JSON NOT NULL, 
	CONSTRAINT pk_usage_records PRIMARY KEY (id)
);
INSERT INTO "usage_records" VALUES(1,'02109831-d6dd-43c0-9b3f-95f54110abb2','physics','best-effort','shutdown',1795788562,1795788563,2,'{"DISK_GB": 2, "MEMORY_MB": 1024, "VCPU": 4}','["4", "4"]');
CREATE INDEX ix_leases_deleted_at_sequence ON leases (deleted_at, sequence);
CREATE INDEX ix_leases_ended_planned_end ON leases (ended, planned_end);
CREATE INDEX ix_leases_project_id_deleted_at_sequence ON leases (project_id, deleted_at, sequence);
CREATE INDEX ix_leases_revision ON leases (revision);
CREATE INDEX ix_leases_series_id ON leases (series_id);
CREATE INDEX ix_operations_lease_id ON operations (lease_id);
CREATE INDEX ix_series_project_id ON series (project_id);
CREATE INDEX ix_usage_records_end ON usage_records ("end");
CREATE INDEX ix_usage_records_lease_id ON usage_records (lease_id);
CREATE INDEX ix_usage_records_project_id_end ON usage_records (project_id, "end");
CREATE INDEX ix_holdings_end ON holdings ("end");
CREATE INDEX ix_lease_history_lease_id ON lease_history (lease_id);
CREATE INDEX ix_lease_reservations_lease_id ON lease_reservations (lease_id);
CREATE INDEX ix_revenue_records_project_id_instant ON revenue_records (project_id, instant);
CREATE INDEX ix_revenue_records_instant ON revenue_records (instant);
CREATE INDEX ix_breaches_lease_id ON breaches (lease_id);
CREATE INDEX ix_breaches_project_id_instant ON breaches (project_id, instant);
CREATE INDEX ix_breaches_instant ON breaches (instant);
CREATE INDEX ix_capacity_changes_instant ON capacity_changes (instant);
CREATE INDEX ix_subscriptions_project_id ON subscriptions (project_id);
CREATE INDEX ix_deliveries_subscription_id_id ON deliveries (subscription_id, id);
CREATE INDEX ix_feeds_project_id ON feeds (project_id);
COMMIT;
