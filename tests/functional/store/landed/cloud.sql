BEGIN TRANSACTION;
CREATE TABLE closed (host TEXT PRIMARY KEY);
CREATE TABLE held (
    lease_id TEXT, host TEXT, class TEXT, amount INTEGER NOT NULL, PRIMARY KEY (lease_id, host, class)
);
INSERT INTO "held" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06','compute-1','DISK_GB',2);
INSERT INTO "held" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06','compute-1','HOST_SHARE',2);
INSERT INTO "held" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06','compute-1','MEMORY_MB',1024);
INSERT INTO "held" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06','compute-1','VCPU',4);
INSERT INTO "held" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4','compute-2','DISK_GB',2);
INSERT INTO "held" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4','compute-2','HOST_SHARE',2);
INSERT INTO "held" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4','compute-2','MEMORY_MB',1024);
INSERT INTO "held" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4','compute-2','VCPU',4);
INSERT INTO "held" VALUES('d15693b8-c0d6-4790-9288-9552690caddc','compute-3','DISK_GB',2);
INSERT INTO "held" VALUES('d15693b8-c0d6-4790-9288-9552690caddc','compute-3','HOST_SHARE',2);
INSERT INTO "held" VALUES('d15693b8-c0d6-4790-9288-9552690caddc','compute-3','MEMORY_MB',1024);
INSERT INTO "held" VALUES('d15693b8-c0d6-4790-9288-9552690caddc','compute-3','VCPU',4);
CREATE TABLE hypervisors (name TEXT PRIMARY KEY, facts TEXT NOT NULL);
INSERT INTO "hypervisors" VALUES('compute-1','{"name": "compute-1", "vcpus": 8, "memory_mb": 32768, "local_gb": 500, "capacity": {"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500, "HOST_SHARE": 1000000}, "max_unit": {}, "traits": [], "hypervisor_type": "simulated", "hypervisor_version": 1, "cpu_info": "{\"arch\": \"x86_64\", \"vendor\": \"simulated\"}", "service_name": "compute-1", "availability_zone": null, "hypervisor_id": "1", "providers": []}');
INSERT INTO "hypervisors" VALUES('compute-2','{"name": "compute-2", "vcpus": 8, "memory_mb": 32768, "local_gb": 500, "capacity": {"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500, "HOST_SHARE": 1000000}, "max_unit": {}, "traits": [], "hypervisor_type": "simulated", "hypervisor_version": 1, "cpu_info": "{\"arch\": \"x86_64\", \"vendor\": \"simulated\"}", "service_name": "compute-2", "availability_zone": null, "hypervisor_id": "2", "providers": []}');
INSERT INTO "hypervisors" VALUES('compute-3','{"name": "compute-3", "vcpus": 8, "memory_mb": 32768, "local_gb": 500, "capacity": {"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500, "HOST_SHARE": 1000000}, "max_unit": {}, "traits": [], "hypervisor_type": "simulated", "hypervisor_version": 1, "cpu_info": "{\"arch\": \"x86_64\", \"vendor\": \"simulated\"}", "service_name": "compute-3", "availability_zone": null, "hypervisor_id": "3", "providers": []}');
INSERT INTO "hypervisors" VALUES('compute-4','{"name": "compute-4", "vcpus": 8, "memory_mb": 32768, "local_gb": 500, "capacity": {"VCPU": 8, "MEMORY_MB": 32768, "DISK_GB": 500, "HOST_SHARE": 1000000}, "max_unit": {}, "traits": [], "hypervisor_type": "simulated", "hypervisor_version": 1, "cpu_info": "{\"arch\": \"x86_64\", \"vendor\": \"simulated\"}", "service_name": "compute-4", "availability_zone": null, "hypervisor_id": "4", "providers": []}');
CREATE TABLE images (host TEXT, image TEXT, since INTEGER NOT NULL, PRIMARY KEY (host, image));
CREATE TABLE leases (id TEXT PRIMARY KEY, aggregate TEXT, servers TEXT NOT NULL DEFAULT 'none');
INSERT INTO "leases" VALUES('7c68b8f0-ff53-4a11-aa45-cbceef079a06','["compute-1"]','active');
INSERT INTO "leases" VALUES('a2ac24de-44f4-4b28-bc60-2cda8a96dcb4','["compute-2"]','active');
INSERT INTO "leases" VALUES('d15693b8-c0d6-4790-9288-9552690caddc','["compute-3"]','active');
CREATE TABLE share_revision (revision INTEGER NOT NULL);
INSERT INTO "share_revision" VALUES(4294967297);
CREATE TABLE shares (lease_id TEXT PRIMARY KEY, yield REAL NOT NULL);
CREATE TABLE timers (intent INTEGER, step TEXT, over INTEGER NOT NULL, PRIMARY KEY (intent, step));
CREATE TABLE work (
    lease_id TEXT PRIMARY KEY, need INTEGER NOT NULL, done INTEGER NOT NULL, since INTEGER
);
CREATE INDEX held_by_host ON held (host, class);
COMMIT;
